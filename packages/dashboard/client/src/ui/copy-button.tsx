import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { announce, notify } from '../live/notices.ts'
import { Icon } from './icon.tsx'

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // The clipboard API exists only in secure contexts; the old way works everywhere.
    return copyTheOldWay(text)
  }
}

/** Copies by the command of a selection. The event has the text, since a text field changes line ends. */
function copyTheOldWay(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'off-screen'
  area.addEventListener('copy', (event) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  })
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}

/** Copies a text, invisible characters included. */
export function CopyButton({ text, what }: { text: string; what: string }): JSX.Element {
  const isDone = useSignal(false)
  const onClick = async () => {
    if (!(await copy(text)))
      return notify('failed', 'The browser does not allow this page to copy.')
    isDone.value = true
    announce(`Copied ${what}.`)
    setTimeout(() => {
      isDone.value = false
    }, 1_500)
  }
  return (
    <button type="button" class="quiet" aria-label={`Copy ${what}`} onClick={() => void onClick()}>
      <Icon name={isDone.value ? 'good' : 'copy'} />
    </button>
  )
}
