import type { Clock, Driver, LastError } from 'sluice'

/** A key and its queue. */
export interface AboutKey {
  readonly queue: string
  readonly key: string
}

/**
 * How visitors authenticate: with a token, or by a function of the application that the dashboard
 * is mounted in.
 */
export type DashboardAuth =
  | {
      /** At least 16 characters. Signing in with it allows reading and acting. */
      readonly token: string
    }
  | {
      /**
       * Returns the name of the visitor who sent a request, or `undefined` to reject it. The
       * application knows the visitor from its own session, or from a proxy that it trusts. Called
       * for each request to the API, and every 30 s for the stream of an open page.
       */
      readonly trust: (request: Request) => string | undefined | Promise<string | undefined>
      /**
       * At least 16 characters; the same in all processes that serve one dashboard behind a load
       * balancer. Default: random for each process.
       */
      readonly secret?: string | undefined
    }

/** Options of {@link createDashboard}. */
export interface DashboardOptions {
  /** The driver, as it is passed to queues. The first request opens it; queues share it. */
  readonly driver: Driver
  /** The path at which the dashboard is mounted, such as `/queues`. Default `/`. */
  readonly basePath?: string | undefined
  /**
   * Whether the dashboard may change keys and queues. Requires {@link DashboardOptions.auth}.
   * Default: read-only.
   */
  readonly allowActions?: boolean | undefined
  /** Authentication. Default: none; every visitor may read. */
  readonly auth?: DashboardAuth | undefined
  /**
   * Allowed `Host` headers; a name with a port allows only that port. Requests with any other are
   * rejected. Default: `localhost`, `127.0.0.1` and `[::1]`. `serveDashboard` also answers the address
   * that it returns.
   */
  readonly hosts?: readonly string[] | undefined
  /**
   * Returns the part of an item that may be shown; if it throws, none is. Items are sent only when a
   * visitor asks to see one. Default: the whole item.
   */
  readonly redact?: ((item: unknown, about: AboutKey) => unknown) | undefined
  /**
   * Returns the part of an error that may be shown; if it throws, none is. To keep secrets out of
   * the store as well, use the `redactError` option of the queue. Default: the whole error.
   */
  readonly redactError?: ((error: LastError, about: AboutKey) => LastError) | undefined
  /** How often the store is read while a page is open, in milliseconds. Default 1000. */
  readonly tickMs?: number | undefined
  /** The maximum number of pages that are open at the same time. Default 50. */
  readonly streamsMax?: number | undefined
  /** Default: the system clock of this process, and the clock of the store. */
  readonly clock?: Clock | undefined
  /** The name of the store on the page; must not contain passwords. Default: the driver's name. */
  readonly storeName?: string | undefined
  /** Called with errors that cannot be returned to a request. Default: they are printed. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** A dashboard. Mount its `fetch` in any server, and call `close` when the server stops. */
export interface Dashboard extends AsyncDisposable {
  /**
   * Answers any request; never rejects. `environment` is the second argument of `@hono/node-server`;
   * with it, a connection whose client has stopped reading can be closed at once.
   */
  fetch(request: Request, environment?: object): Promise<Response>
  /** Ends all streams and releases the store. May be called more than once. */
  close(): Promise<void>
}
