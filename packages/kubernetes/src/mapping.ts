import { checkBoolean, checkObject, checkString, quoted, SluiceRangeError } from '@sluice/core'

/** The part of a Kubernetes object that mappings look at, as a structure. */
export interface KubernetesObjectLike {
  readonly metadata?:
    | {
        readonly name?: string | undefined
        readonly namespace?: string | undefined
        readonly ownerReferences?:
          | readonly {
              readonly apiVersion: string
              readonly kind: string
              readonly name: string
              readonly controller?: boolean | undefined
            }[]
          | undefined
      }
    | undefined
}

/** The keys that a change of an object adds. */
export type Mapping<T> = (object: T) => string | readonly string[] | undefined

/** The key of an object, as client-go has it: `namespace/name`, or `name` without a namespace. */
export function objectKey(object: KubernetesObjectLike): string | undefined {
  const { name, namespace } = checkObject('object', object).metadata ?? {}
  if (name === undefined || name === '') return undefined
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

/** The opposite of {@link objectKey}. */
export function splitKey(key: string): { readonly namespace?: string; readonly name: string } {
  const slash = checkString('key', key).indexOf('/')
  if (slash === -1) return { name: key }
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** Which owners of an object count. */
export interface OwnerKind {
  /** The kind of the owner, such as `ReplicaSet`. */
  readonly kind: string
  /** The group of the owner, such as `apps`; `''` is the core group. Default: any. */
  readonly group?: string | undefined
  /** Whether owners count that do not control the object. Default false. */
  readonly all?: boolean | undefined
  /** Whether the owner has no namespace, as a Node. Default false. */
  readonly clusterScoped?: boolean | undefined
}

/**
 * A mapping to the keys of the owners of an object: a pod that changes adds its replica set.
 *
 * Throws if no owner can be meant.
 */
export function ownerKeys(owner: OwnerKind): Mapping<KubernetesObjectLike> {
  checkObject('owner', owner, ['kind', 'group', 'all', 'clusterScoped'])
  const { kind, group, all = false, clusterScoped = false } = owner
  checkString('kind', kind, { empty: false })
  if (group !== undefined && checkString('group', group).includes('/')) {
    throw new SluiceRangeError('group', `must not contain a version; got ${quoted(group)}`)
  }
  checkBoolean('all', all)
  checkBoolean('clusterScoped', clusterScoped)
  return ({ metadata }) => {
    const owners = (metadata?.ownerReferences ?? []).filter(
      (reference) =>
        reference.kind === kind &&
        (group === undefined || groupOf(reference.apiVersion) === group) &&
        (all || reference.controller === true),
    )
    const namespace = clusterScoped ? undefined : metadata?.namespace
    return owners.flatMap(({ name }) => objectKey({ metadata: { name, namespace } }) ?? [])
  }
}

/** The group of `apps/v1` is `apps`; that of `v1` is `''`. */
function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash === -1 ? '' : apiVersion.slice(0, slash)
}
