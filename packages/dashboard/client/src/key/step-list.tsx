import type { JSX } from 'preact'
import type { KeyStep } from '../../../src/wire.ts'
import { duration } from '../text/durations.ts'
import { Scroll } from '../ui/scroll.tsx'
import { StateWord } from '../ui/state-word.tsx'
import { Clock } from '../ui/times.tsx'
import { Visible } from '../ui/visible.tsx'

/** The steps of a key, newest first. */
export function StepList({ steps }: { readonly steps: readonly KeyStep[] }): JSX.Element {
  return (
    <Scroll name="Steps, newest first">
      <ol class="steps" reversed>
        {steps
          .map((step, index) => ({ step, after: steps[index - 1] }))
          .reverse()
          .map(({ step, after }) => (
            <li key={`${step.at} ${step.to} ${step.note}`} class={`step from-${step.from}`}>
              <StateWord state={step.to} />
              <span class="step-note">
                <Visible text={step.note} />
                {step.from === 'seen' && (
                  <span class="faint" title="Observed by the dashboard, not recorded by the store">
                    {' '}
                    (seen)
                  </span>
                )}
              </span>
              <span class="step-time figures">
                <Clock at={step.at} />
                {after !== undefined && step.at > after.at && (
                  <span class="faint"> +{duration(step.at - after.at)}</span>
                )}
              </span>
            </li>
          ))}
      </ol>
    </Scroll>
  )
}
