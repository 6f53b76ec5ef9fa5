// A controller at work: what is wanted changes, machines come and go.
import { startController } from './controller.ts'
import { Deployments } from './deployments.ts'
import { Machines } from './machines.ts'

let starts = 0
// Every third start fails.
const machines = new Machines(() => ++starts % 3 !== 0)
const deployments = new Deployments()
for (const name of ['web', 'api', 'mail']) deployments.set({ name, machines: 2 })

const controller = await startController(deployments, machines)
await controller.settled()
console.log(`from the list: web ${machines.count('web')}, api ${machines.count('api')}`)

for (let size = 1; size <= 100; size += 1) deployments.set({ name: 'web', machines: size % 8 })
deployments.delete('mail')
await controller.settled()
console.log(`after 101 changes: web ${machines.count('web')}, mail ${machines.count('mail')}`)
await controller.stop()
