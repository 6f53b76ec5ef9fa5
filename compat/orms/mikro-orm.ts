import { EntitySchema, MikroORM } from '@mikro-orm/postgresql'
import type { OpenOrm } from './orm.ts'

const Order = new EntitySchema<{ id: number }>({
  name: 'orders',
  tableName: 'orders',
  properties: { id: { type: 'integer', primary: true } },
})

/** MikroORM, with the entity manager of `transactional`. */
export const openMikroOrm: OpenOrm = async (clientUrl, queue) => {
  const orm = await MikroORM.init({ clientUrl, entities: [Order] })
  return {
    async transaction(work) {
      await orm.em.fork().transactional(async (em) => {
        await work({
          within: queue.within(em),
          async insert(id) {
            await em.insert(Order, { id })
          },
        })
      })
    },
    outside: () => queue.within(orm.em.fork()),
    close: () => orm.close(),
  }
}
