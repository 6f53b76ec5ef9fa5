/** Points of a line as the `d` of an SVG path, from left to right in a box of `width` by `height`. */
export function linePath(
  values: readonly number[],
  { width, height, top }: { readonly width: number; readonly height: number; readonly top: number },
): string {
  const step = values.length < 2 ? 0 : width / (values.length - 1)
  const y = (value: number) => height - (top <= 0 ? 0 : Math.min(1, value / top) * height)
  return values
    .map((value, index) => `${index === 0 ? 'M' : 'L'}${round(index * step)} ${round(y(value))}`)
    .join('')
}

/** The area below a line, as the `d` of an SVG path. */
export function areaPath(
  values: readonly number[],
  box: { readonly width: number; readonly height: number; readonly top: number },
): string {
  if (values.length === 0) return ''
  return `${linePath(values, box)}V${box.height}H0Z`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
