import type { StoreInspection } from 'sluice'
import type { Sessions, Visitor } from './visitors.ts'
import type { Settings } from '../settings.ts'
import { version } from '../version.ts'
import type { SessionInfo } from '../wire.ts'

/** What somebody learns of the store who was not let in: nothing. */
const nothing: Pick<SessionInfo, 'store' | 'driver' | 'capabilities'> = {
  store: '',
  driver: '',
  capabilities: {
    ...{ durable: false, shared: false, clock: false, order: 'strict', time: 'wall' },
    ...{ watch: false, peers: false, operate: false },
    ...{ queues: false, workers: false, buckets: false, transact: false },
  },
}

function readOnlyBecause(settings: Settings): string | undefined {
  if (settings.auth === undefined) {
    return 'This dashboard is read-only: nobody can sign in to it.'
  }
  if (!settings.allowActions) return 'This dashboard is read-only: actions were not allowed.'
  return undefined
}

/** What a page learns first. */
export function sessionInfo(
  settings: Settings,
  store: StoreInspection,
  sessions: Sessions,
  visitor: Visitor | undefined,
): SessionInfo {
  const { canSignIn } = sessions
  if (visitor === undefined) {
    return { ...nothing, mayAct: false, mustSignIn: true, canSignIn, signedIn: false, version }
  }
  const { allowActions, storeName } = settings
  const reason = readOnlyBecause(settings)
  return {
    store: storeName,
    driver: store.driver,
    capabilities: store.capabilities,
    mayAct: allowActions,
    mustSignIn: false,
    canSignIn: false,
    signedIn: canSignIn,
    ...(reason === undefined ? {} : { readOnlyBecause: reason }),
    ...(settings.auth === undefined ? {} : { csrf: sessions.csrfOf(visitor) }),
    version,
  }
}
