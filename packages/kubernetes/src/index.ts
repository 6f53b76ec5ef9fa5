/**
 * Kubernetes informers for queues: `enqueueOn` adds the key of each object that changes, `objectKey` and
 * `ownerKeys` say which key that is.
 *
 * @packageDocumentation
 */

export { type Enqueueing, type EnqueueOptions, enqueueOn } from './enqueue-on.ts'
export type { InformerLike } from './informer.ts'
export {
  type KubernetesObjectLike,
  type Mapping,
  type OwnerKind,
  objectKey,
  ownerKeys,
  splitKey,
} from './mapping.ts'
