import type { StoreInspection } from 'sluice'
import type { LiveViews } from '../live/live-views.ts'
import type { Settings } from '../settings.ts'
import type { SessionInfo } from '../wire.ts'
import type { Visitor, Visitors } from './visitors.ts'

/** The answer for a visitor who has not signed in, which says nothing about the store. */
const nothing: Pick<SessionInfo, 'store' | 'driver' | 'capabilities'> = {
  store: '',
  driver: '',
  capabilities: {
    ...{ durable: false, shared: false, clock: false, order: 'strict', time: 'wall' },
    ...{ tokens: 'store', sharedBuckets: false },
    ...{ watch: false, peers: false, operate: false },
    ...{ queues: false, workers: false, history: false, buckets: false, transact: false },
  },
}

function readOnlyBecause(settings: Settings): string | undefined {
  if (settings.auth === undefined) {
    return 'This dashboard is read-only: it was created without authentication.'
  }
  if (!settings.allowActions) return 'This dashboard is read-only: actions are not enabled.'
  return undefined
}

/** The answer to `/api/session`, the first request of the page. */
export function sessionInfo(
  settings: Settings,
  store: StoreInspection,
  visitors: Visitors,
  visitor: Visitor | undefined,
  live: LiveViews,
): SessionInfo {
  const { canSignIn } = visitors
  if (visitor === undefined) {
    return { ...nothing, mayAct: false, mustSignIn: true, canSignIn, signedIn: false }
  }
  const { allowActions, storeName } = settings
  const { refusal } = live
  return {
    store: storeName,
    driver: store.driver,
    capabilities: store.capabilities,
    mayAct: allowActions,
    mustSignIn: false,
    canSignIn: false,
    signedIn: canSignIn,
    readOnlyBecause: readOnlyBecause(settings),
    ...(refusal === undefined ? {} : { noStreamBecause: refusal.message }),
    csrf: settings.auth === undefined ? undefined : visitors.csrfOf(visitor),
  }
}
