import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.ts'
import type { OpenOrm } from './orm.ts'

export const openPrisma: OpenOrm = async (url, queue) => {
  const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) })
  return {
    async transaction(work) {
      await client.$transaction(async (tx) => {
        await work({
          within: queue.within(tx),
          async insert(id) {
            await tx.order.create({ data: { id } })
          },
        })
      })
    },
    outside: () => queue.within(client),
    close: () => client.$disconnect(),
  }
}
