import { DatabaseSync } from 'node:sqlite'
import type { RateLimitingQueue } from 'sluice'

/** An order as the shop knows it. */
export interface Order {
  readonly id: string
  readonly total: number
  readonly version: number
}

/** Orders in a SQLite file, in which the queue of webhooks lives as well. */
export class Shop {
  readonly #database: DatabaseSync
  readonly #webhooks: RateLimitingQueue<string>

  constructor(file: string, webhooks: RateLimitingQueue<string>) {
    this.#database = new DatabaseSync(file)
    this.#database.exec('pragma busy_timeout = 5000')
    this.#database.exec(
      'create table if not exists orders (id text primary key, total real, version integer)',
    )
    this.#webhooks = webhooks
  }

  /** Writes an order, and that its webhook is pending; both, or neither. */
  save(id: string, total: number): void {
    this.#database.exec('begin immediate')
    try {
      this.#database
        .prepare(
          `insert into orders values (?, ?, 1)
           on conflict (id) do update set total = excluded.total, version = version + 1`,
        )
        .run(id, total)
      this.#webhooks.within(this.#database).add(`order/${id}`)
      this.#database.exec('commit')
    } catch (error) {
      this.#database.exec('rollback')
      throw error
    }
  }

  /** The order as it is now. */
  find(id: string): Order | undefined {
    return this.#database.prepare('select * from orders where id = ?').get(id) as Order | undefined
  }

  close(): void {
    this.#database.close()
  }
}
