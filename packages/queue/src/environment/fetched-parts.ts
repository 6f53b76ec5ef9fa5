// The parts of a queue in a browser: a page fetches each of them when a queue needs it first.
import { LateModule } from './late.ts'
import type * as present from './parts.ts'

export const batchedPart: typeof present.batchedPart = /* @__PURE__ */ new LateModule(
  () => import('../batched/batched-backend.ts'),
)

export const directPart: typeof present.directPart = /* @__PURE__ */ new LateModule(
  () => import('../core/direct-backend.ts'),
)

export const inspectionPart: typeof present.inspectionPart = /* @__PURE__ */ new LateModule(
  () => import('../inspect/queue-inspection.ts'),
)

export const leasesPart: typeof present.leasesPart = /* @__PURE__ */ new LateModule(
  () => import('../leases/leases.ts'),
)

export const transactionPart: typeof present.transactionPart = /* @__PURE__ */ new LateModule(
  () => import('../queue/queue-transaction.ts'),
)

export const checkRuntime: typeof present.checkRuntime = () => undefined
