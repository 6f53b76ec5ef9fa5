/**
 * Imported first by a process of the test: appends a line to the file RUNS for each run that begins
 * (`+ PID KEY`), and for each that gives its key back (`- PID KEY`), before the store knows.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { channelName, type SluiceEvent } from 'sluice'

const ignore = (): void => {}
/**
 * The keys whose runs have begun and not ended. One that was only claimed ahead is given back without; and a
 * finish is repeated while the file is busy with another process.
 */
const running = new Set<string>()

function record(sign: '+' | '-', key: string): void {
  appendFileSync(process.env['RUNS'] ?? '', `${sign} ${process.pid} ${key}\n`)
}

tracingChannel<SluiceEvent>(channelName).subscribe({
  start({ verb, request }) {
    if (verb === 'run') {
      const { key } = request as { readonly key: string }
      running.add(key)
      record('+', key)
    }
    if (verb !== 'finish') return
    const { finishes } = request as { readonly finishes: readonly { readonly key: string }[] }
    for (const { key } of finishes) if (running.delete(key)) record('-', key)
  },
  end: ignore,
  asyncStart: ignore,
  asyncEnd: ignore,
  error: ignore,
})
