import { checkKey, checkQueueName } from '@sluice/core'
import { badInput, HttpError } from '../http/http-error.ts'
import { keyQuery } from '../http/query.ts'
import type { ActionName, ActionRequest } from '../wire.ts'

/** Whether an action applies to one key, to keys, or to a queue. */
const aims: Readonly<Record<ActionName, 'key' | 'keys' | 'queue'>> = {
  add: 'key',
  release: 'key',
  runNow: 'keys',
  forget: 'keys',
  park: 'keys',
  unpark: 'keys',
  remove: 'keys',
  pause: 'queue',
  resume: 'queue',
  purge: 'queue',
}

const names = new Set([
  ...['queue', 'action', 'key', 'all', 'expected'],
  ...['item', 'afterMs', 'priority', 'forget', 'confirm', 'token'],
])

function isName(action: unknown): action is ActionName {
  return typeof action === 'string' && Object.hasOwn(aims, action)
}

/** Checks the body of a request for an action, before any of it is carried out. */
export function actionRequest(
  body: Readonly<Record<string, unknown>>,
  nameMayBeEmpty: boolean,
): ActionRequest {
  for (const name of Object.keys(body)) {
    if (!names.has(name)) throw badInput(`an action has no field ${name.slice(0, 40)}`)
  }
  const { action, key, all, expected, forget } = body
  const queue = checkQueueName('queue', body['queue'], { empty: nameMayBeEmpty })
  if (!isName(action)) throw badInput(`action must be one of ${Object.keys(aims).join(', ')}`)
  if (key !== undefined) checkKey('key', key)
  if (forget !== undefined && typeof forget !== 'boolean') {
    throw badInput('forget must be true or false')
  }
  const { token } = body
  if (token !== undefined && !(action === 'release' && Number.isSafeInteger(token))) {
    throw badInput('token must be a whole number, and is for release only')
  }
  checkAim(action, body)
  const isBulk = all !== undefined
  if (isBulk && !(Number.isSafeInteger(expected) && Number(expected) >= 0)) {
    throw badInput('expected must be the number of keys that the visitor confirmed')
  }
  if (isBulk) checkAll(all)
  if ((action === 'purge' || (action === 'remove' && isBulk)) && body['confirm'] !== queue) {
    throw new HttpError(
      400,
      'ERR_NOT_CONFIRMED',
      `cannot ${action} without the name of the queue, typed once more as confirm`,
    )
  }
  return body as unknown as ActionRequest
}

function checkAll(all: unknown): void {
  if (typeof all !== 'object' || all === null || Array.isArray(all)) {
    throw badInput('all must be an object that filters keys')
  }
  keyQuery(all as Record<string, unknown>)
}

function checkAim(action: ActionName, body: Readonly<Record<string, unknown>>): void {
  const { key, all, item, afterMs, priority } = body
  const aim = aims[action]
  if (aim === 'queue' && (key !== undefined || all !== undefined)) {
    throw badInput(`${action} applies to a whole queue: leave out key and all`)
  }
  if (aim === 'keys' && (key === undefined) === (all === undefined)) {
    throw badInput(`${action} needs either key or all`)
  }
  if (aim === 'key' && all !== undefined)
    throw badInput(`${action} applies to one key: leave out all`)
  if (action === 'release' && key === undefined) throw badInput('release needs a key')
  if (action === 'add') return
  if (item !== undefined || afterMs !== undefined || priority !== undefined) {
    throw badInput(`${action} takes no item, afterMs and priority`)
  }
}
