// Runs one workload in this process: `node one.ts queue|bare NAME COUNT REPETITIONS`. Prints JSON.
import { bareLoops, workloads } from './workloads.ts'

const [side = '', name = '', count = '', repetitions = ''] = process.argv.slice(2)
const workload = (side === 'bare' ? bareLoops : workloads)[name]
if (workload === undefined) throw new Error(`there is no workload ${side} ${name}`)

const keys = Array.from({ length: Number(count) }, (_, index) => `namespace/object-${index}`)
// One repetition to warm up, on few enough keys that tables still have to grow afterwards.
await workload(keys.slice(0, Math.max(2_000, keys.length / 20)))

let peak = 0
const rates: number[] = []
for (let repetition = 0; repetition < Number(repetitions); repetition += 1) {
  const started = performance.now()
  await workload(keys)
  rates.push(keys.length / (performance.now() - started) / 1_000)
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  peak = Math.max(peak, heapUsed + arrayBuffers)
}
console.log(JSON.stringify({ rate: Math.max(...rates), peakMb: peak / 2 ** 20 }))
// Timers of a queue that was closed are gone, but nothing here needs to be waited for either.
process.exit(0)
