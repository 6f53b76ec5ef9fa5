import {
  type Ask,
  type AskOptions,
  type AskReply,
  type CancelOutcome,
  type Capabilities,
  type ClaimReply,
  type ClaimRequest,
  type Counts,
  contractVersion,
  type Driver,
  type ExpireOptions,
  type ExpireOutcome,
  type Failure,
  type Finish,
  type FinishReply,
  type ForgetOutcome,
  type Lease,
  type ListReply,
  type ListRequest,
  type OpenOptions,
  type RenewReply,
  RisingTime,
  SluiceError,
  systemClock,
  type TickReply,
  type TickRequest,
} from '@sluice/core/driver'

/** Where the keys are stored. */
export interface TemplateOptions {
  /** Replace it by what the store needs to connect: a path, an address. */
  readonly target?: string | undefined
}

function notWritten(verb: string): SluiceError {
  return new SluiceError('ERR_STORE', `${verb} is not written yet`)
}

/**
 * The verbs in the order in which they are best written: with the first five you can add, claim and
 * finish, and `list` and `counts` show the result. Declare a capability when its verbs are written;
 * until then its cases are skipped.
 *
 * When a verb outgrows this file, give it one of its own, as the drivers of this repository do:
 * `src/verbs/claim.ts` for the verb, `src/rows/` for the columns of a stored key, `src/connection/`
 * and `src/schema/` for the rest.
 */
class TemplateDriver implements Driver {
  readonly name = 'template'
  readonly contractVersion: number = contractVersion
  readonly capabilities: Capabilities = {
    durable: false,
    shared: false,
    clock: true,
    order: 'strict',
    time: 'wall',
    tokens: 'store',
    sharedBuckets: true,
    watch: false,
    peers: false,
    operate: false,
    queues: false,
    workers: false,
    history: false,
    buckets: false,
    transact: false,
  }
  readonly options: TemplateOptions
  /** The store's time: every verb reads it once. */
  time = new RisingTime(systemClock)

  constructor(options: TemplateOptions) {
    this.options = options
  }

  get ahead(): number {
    return this.time.ahead
  }

  async open({ clock = systemClock }: OpenOptions): Promise<void> {
    // A store that outlives the process stores `time.ahead` and `time.latest`, and resumes from
    // them.
    this.time = new RisingTime(clock)
    throw notWritten('open')
  }

  async close(): Promise<void> {
    throw notWritten('close')
  }

  async add(
    _queue: string,
    _asks: readonly Ask[],
    _options: AskOptions,
  ): Promise<readonly (AskReply | Failure)[]> {
    throw notWritten('add')
  }

  async claim(_queue: string, _request: ClaimRequest): Promise<ClaimReply> {
    throw notWritten('claim')
  }

  async finish(
    _queue: string,
    _finishes: readonly Finish[],
    _options: AskOptions,
  ): Promise<readonly (FinishReply | Failure)[]> {
    throw notWritten('finish')
  }

  async list(_queue: string, _request: ListRequest): Promise<ListReply> {
    throw notWritten('list')
  }

  async counts(_queue: string, _options: { readonly cap: number }): Promise<Counts> {
    throw notWritten('counts')
  }

  async cancel(_queue: string, _keys: readonly string[]): Promise<readonly CancelOutcome[]> {
    throw notWritten('cancel')
  }

  async forget(_queue: string, _keys: readonly string[]): Promise<readonly ForgetOutcome[]> {
    throw notWritten('forget')
  }

  async renew(
    _queue: string,
    _leases: readonly Lease[],
    _leaseMs: number,
  ): Promise<readonly (RenewReply | Failure)[]> {
    throw notWritten('renew')
  }

  async expire(
    _queue: string,
    _leases: readonly Lease[],
    _options: ExpireOptions,
  ): Promise<readonly (ExpireOutcome | Failure)[]> {
    throw notWritten('expire')
  }

  async tick(_queue: string, _request: TickRequest): Promise<TickReply> {
    throw notWritten('tick')
  }
}

/** Stores keys in template. */
export function templateDriver(options: TemplateOptions = {}): Driver {
  return new TemplateDriver(options)
}
