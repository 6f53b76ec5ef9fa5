// The parts of a queue that a queue in memory may never need. Here they are read with the package, so
// that nothing waits for them; in a browser `fetched-parts.ts` stands in for this module.
import * as batched from '../batched/batched-backend.ts'
import * as direct from '../core/direct-backend.ts'
import * as inspection from '../inspect/queue-inspection.ts'
import * as leases from '../leases/leases.ts'
import * as transaction from '../queue/queue-transaction.ts'
import { nodeVersion } from './environment.ts'
import { LateModule } from './late.ts'

export const batchedPart: LateModule<typeof batched> = /* @__PURE__ */ LateModule.present(batched)

export const directPart: LateModule<typeof direct> = /* @__PURE__ */ LateModule.present(direct)

export const inspectionPart: LateModule<typeof inspection> =
  /* @__PURE__ */ LateModule.present(inspection)

export const leasesPart: LateModule<typeof leases> = /* @__PURE__ */ LateModule.present(leases)

export const transactionPart: LateModule<typeof transaction> =
  /* @__PURE__ */ LateModule.present(transaction)

/** Throws where Node is too old: SQLite would end the process there, and memory fail at the first call. */
export function checkRuntime(): void {
  if ('transfer' in ArrayBuffer.prototype) return
  throw new Error(
    `cannot make a queue: Node ${nodeVersion()} is too old; install Node 22.14 or newer`,
  )
}
