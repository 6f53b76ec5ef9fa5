import type { PageLocation } from '../../client/src/location/location.ts'
import { serve } from './served.ts'
import type { Stage } from './stage.ts'
import { Visit } from './visit.ts'

/** A visit to the page of a store with the queue `orders`, which has this many keys. */
export async function visitOrders({ browser, stores }: Stage, keys: number, place: PageLocation) {
  const driver = stores.sqlite()
  const queue = stores.queue(driver, 'orders')
  await queue.addMany(Array.from({ length: keys }, (_, at) => `key/${String(at).padStart(3, '0')}`))
  const served = await serve({ driver })
  stores.closing(() => served.stop())
  const visit = await Visit.begin(browser, served, place)
  return { driver, queue, served, visit }
}
