import { keyStateWords } from '@sluice/core/words'
import type { JSX } from 'preact'
import { meanings } from '../text/meanings.ts'
import { Dialog } from '../ui/dialog.tsx'
import { StateWord } from '../ui/state-word.tsx'
import { isHelpOpen, shortcuts } from './shortcuts.ts'

/** The keyboard shortcuts, and what the states mean. */
export function HelpDialog(): JSX.Element {
  const close = () => {
    isHelpOpen.value = false
  }
  return (
    <Dialog title="Shortcuts and states" onClose={close}>
      <dl class="shortcuts">
        {shortcuts.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <dl class="words">
        {keyStateWords.map((state) => (
          <div key={state}>
            <dt>
              <StateWord state={state} />
            </dt>
            <dd>{meanings[state]}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
