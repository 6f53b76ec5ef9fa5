import 'reflect-metadata'
import { DataSource, EntitySchema } from 'typeorm'
import type { OpenOrm } from './orm.ts'

const Order = new EntitySchema<{ id: number }>({
  name: 'orders',
  columns: { id: { type: 'int', primary: true } },
})

/** TypeORM, with the query runner that the transaction is on. */
export const openTypeormRunner: OpenOrm = async (url, queue) => {
  const source = new DataSource({ type: 'postgres', url, entities: [Order] })
  await source.initialize()
  return {
    async transaction(work) {
      const runner = source.createQueryRunner()
      await runner.connect()
      await runner.startTransaction()
      try {
        await work({
          within: queue.within(runner),
          async insert(id) {
            await runner.manager.insert(Order, { id })
          },
        })
        await runner.commitTransaction()
      } catch (error) {
        await runner.rollbackTransaction()
        throw error
      } finally {
        await runner.release()
      }
    },
    outside: () => queue.within(source),
    close: () => source.destroy(),
  }
}

/** TypeORM, with the entity manager of `transaction`. */
export const openTypeormManager: OpenOrm = async (url, queue) => {
  const source = new DataSource({ type: 'postgres', url, entities: [Order] })
  await source.initialize()
  return {
    async transaction(work) {
      await source.transaction(async (manager) => {
        await work({
          within: queue.within(manager),
          async insert(id) {
            await manager.insert(Order, { id })
          },
        })
      })
    },
    outside: () => queue.within(source.manager),
    close: () => source.destroy(),
  }
}
