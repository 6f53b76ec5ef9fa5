import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'

/** Keeps rows in their positions while the pointer or the focus is in them. */
export interface RowHold {
  readonly isHeld: boolean
  /** The listeners for the element that contains the rows. */
  readonly on: {
    readonly onPointerEnter: (event: PointerEvent) => void
    readonly onPointerLeave: () => void
    readonly onFocusIn: () => void
    readonly onFocusOut: (event: FocusEvent) => void
  }
}

/** Tracks whether the pointer or the focus is in an element. */
export function useHold(): RowHold {
  const hasPointer = useSignal(false)
  const hasFocus = useSignal(false)
  return {
    isHeld: hasPointer.value || hasFocus.value,
    on: {
      onPointerEnter: (event) => {
        if (event.pointerType !== 'touch') hasPointer.value = true
      },
      onPointerLeave: () => {
        hasPointer.value = false
      },
      onFocusIn: () => {
        hasFocus.value = true
      },
      onFocusOut: (event) => {
        const at = event.currentTarget
        hasFocus.value = at instanceof Node && at.contains(event.relatedTarget as Node | null)
      },
    },
  }
}

/** A row as it is shown: stored, or deleted and kept in its position. */
export interface HeldRow<T> {
  readonly id: string
  readonly row: T
  readonly isGone: boolean
}

/** Rows in the order in which they are shown. A change of `scope` means an unrelated set of rows. */
export function useHeldRows<T>(
  rows: readonly T[],
  idOf: (row: T) => string,
  isHeld: boolean,
  scope: string,
): readonly HeldRow<T>[] {
  const shown = useRef<{ scope: string; order: readonly string[]; last: Map<string, T> }>({
    scope,
    order: [],
    last: new Map(),
  })
  const before = shown.current
  const now = new Map(rows.map((row) => [idOf(row), row]))
  const order = heldOrder(before.order, [...now.keys()], isHeld && before.scope === scope)
  const last = new Map<string, T>()
  const held = order.flatMap((id) => {
    const row = now.get(id) ?? before.last.get(id)
    if (row === undefined) return []
    last.set(id, row)
    return [{ id, row, isGone: !now.has(id) }]
  })
  shown.current = { scope, order, last }
  return held
}

/** So many deleted rows stay; a pointer that rests on the rows for hours must not collect all of them. */
const goneMax = 200

/**
 * The order in which rows are shown. While the pointer or the focus is in them, rows keep their
 * positions: deleted rows stay, up to a limit, and new rows are appended.
 */
export function heldOrder(
  shown: readonly string[],
  wanted: readonly string[],
  isHeld: boolean,
): readonly string[] {
  if (!isHeld || shown.length === 0) return sameOr(shown, wanted)
  const known = new Set(shown)
  const stored = new Set(wanted)
  if (shown.filter((id) => !stored.has(id)).length > goneMax) return wanted
  const added = wanted.filter((id) => !known.has(id))
  return added.length === 0 ? shown : [...shown, ...added]
}

function sameOr(shown: readonly string[], wanted: readonly string[]): readonly string[] {
  const isSame = shown.length === wanted.length && shown.every((id, index) => id === wanted[index])
  return isSame ? shown : wanted
}
