/**
 * Imported first by a process of the test: appends a line to the file RUNS for each run that begins
 * (`+ PID KEY`), and for each that gives its key back (`- PID KEY`), before the store knows.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { channelName, type SluiceEvent } from 'sluice'

const ignore = (): void => {}

function record(sign: '+' | '-', key: string): void {
  appendFileSync(process.env['RUNS'] ?? '', `${sign} ${process.pid} ${key}\n`)
}

tracingChannel<unknown, SluiceEvent>(channelName).subscribe({
  start({ verb, request }) {
    if (verb === 'run') record('+', (request as { readonly key: string }).key)
    if (verb !== 'finish') return
    const { finishes } = request as { readonly finishes: readonly { readonly key: string }[] }
    for (const { key } of finishes) record('-', key)
  },
  end: ignore,
  asyncStart: ignore,
  asyncEnd: ignore,
  error: ignore,
})
