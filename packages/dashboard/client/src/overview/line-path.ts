interface Box {
  readonly width: number
  readonly height: number
  readonly top: number
}

interface Point {
  readonly x: number
  readonly y: number
}

/** The points of each stretch of values that are known. */
function stretches(values: readonly (number | null)[], { width, height, top }: Box): Point[][] {
  const step = values.length < 2 ? 0 : width / (values.length - 1)
  const found: Point[][] = []
  let isOpen = false
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isOpen = false
      continue
    }
    const share = top <= 0 ? 0 : Math.min(1, value / top)
    const point = { x: round(index * step), y: round(height - share * height) }
    if (isOpen) found.at(-1)?.push(point)
    else found.push([point])
    isOpen = true
  }
  return found
}

function lineOf(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('')
}

/** Points of a line as the `d` of an SVG path, from left to right; null interrupts it. */
export function linePath(values: readonly (number | null)[], box: Box): string {
  return stretches(values, box).map(lineOf).join('')
}

/** The area below a line, as the `d` of an SVG path. */
export function areaPath(values: readonly (number | null)[], box: Box): string {
  return stretches(values, box)
    .map((points) => `${lineOf(points)}V${box.height}H${points[0]?.x ?? 0}Z`)
    .join('')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
