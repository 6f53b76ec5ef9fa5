import type { Clock, Driver, LastError } from 'sluice'

/** Which key something is about. */
export interface AboutKey {
  readonly queue: string
  readonly key: string
}

/**
 * Who may look, and act: whoever knows a token, or whoever the application around the dashboard
 * vouches for.
 */
export type DashboardAuth =
  | {
      /** At least 16 characters. Whoever knows it signs in with it, and may look and act. */
      readonly token: string
    }
  | {
      /**
       * Says who sends a request, or `undefined` for somebody who is not let in. The application has
       * found that out already, from its own session or from a proxy that it trusts.
       */
      readonly trust: (request: Request) => string | undefined | Promise<string | undefined>
      /**
       * At least 16 characters; the same in all processes that serve one dashboard behind a
       * balancer. Default: a random one for this process.
       */
      readonly secret?: string
    }

/** How a dashboard is made. */
export interface DashboardOptions {
  /** The store, as it is given to queues. It is opened with the first look, and shared with them. */
  readonly driver: Driver
  /** Where it is mounted, such as `/queues`. Default `/`. */
  readonly basePath?: string
  /**
   * Whether keys and queues can be changed from it. Needs {@link DashboardOptions.auth}. Default:
   * it is read-only.
   */
  readonly allowActions?: boolean
  /** Who may look and act. Default: everybody who reaches it may look. */
  readonly auth?: DashboardAuth
  /**
   * The names under which it is reached, as `Host` says them; with a port if only that one will do.
   * Requests for other names are refused. Default: `localhost`, `127.0.0.1` and `[::1]`.
   */
  readonly hosts?: readonly string[]
  /**
   * Gives what of an item may be shown. If it throws, nothing is. Items are never sent unless
   * somebody asks to see them.
   */
  readonly redact?: (item: unknown, about: AboutKey) => unknown
  /**
   * Gives what of an error may be shown. If it throws, nothing is. What must not even be stored is
   * for the `redactError` of the queue.
   */
  readonly redactError?: (error: LastError, about: AboutKey) => LastError
  /** How often the store is looked at while somebody watches, in milliseconds. Default 1000. */
  readonly tickMs?: number
  /** How many pages may watch at the same time. Default 50. */
  readonly streamsMax?: number
  /** Default: the clock of this process, and that of the store. */
  readonly clock?: Clock
  /** What the store is called on the page; without passwords. Default: the name of the driver. */
  readonly storeName?: string
  /** Told of what no request can be answered with. */
  readonly onError?: (error: unknown) => void
}

/** A dashboard: mount its `fetch` under any server, and close it when the server ends. */
export interface Dashboard extends AsyncDisposable {
  /**
   * Answers a request, whatever it is; never rejects. `environment` is what `@hono/node-server`
   * hands over beside the request; it lets a reader that does not read be cut off at once.
   */
  fetch(request: Request, environment?: object): Promise<Response>
  /** Ends all streams, and lets go of the store. It can be asked for more than once. */
  close(): Promise<void>
}
