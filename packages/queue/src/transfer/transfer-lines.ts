import {
  type BucketRow,
  checkBoolean,
  checkKey,
  checkNumber,
  checkObject,
  checkOneOf,
  checkPriority,
  checkQueueName,
  checkString,
  type DueReason,
  type EpochMs,
  errorBytesMax,
  failuresMax,
  isTrace,
  itemBytesMax,
  never,
  parseJson,
  SluiceTypeError,
  type TransferRow,
} from '@sluice/core'

/** The version of the format that is written, and the only one that is read. */
const formatVersion = 1

/**
 * The greatest fencing number, and position in the order, that an export may name. Stores count on from
 * both, from tokens in microseconds of the wall clock: that is reached in the year 2112, and half of all
 * safe integers are above it.
 */
const counterMax = 2 ** 52

/** The instants of a Date. */
const instantLimits = { min: -8.64e15, max: 8.64e15 }

/** The first line of an export. */
interface ExportHead {
  readonly queue: string
  readonly exportedAt: EpochMs
  /** No token that the store gave out is greater. */
  readonly lastToken: number
}

/** One line of an export. */
export type ExportLine =
  | { readonly as: 'head'; readonly head: ExportHead }
  | { readonly as: 'bucket'; readonly bucket: BucketRow }
  | { readonly as: 'key'; readonly row: TransferRow }
  | { readonly as: 'end'; readonly keys: number }

const instants = ['dueAt', 'laterAt', 'readyAt', 'askedAt', 'failedAt'] as const
const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']

/**
 * Writes a line, with the line feed. Members that are not set are left out. The separators of Unicode are escaped,
 * since `readLines` of Node ends lines at them, too.
 */
export function writeLine(line: ExportLine): string {
  const text = JSON.stringify(written(line))
  return `${text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
}

function written(line: ExportLine): object {
  switch (line.as) {
    case 'head':
      return { sluice: 'queue', version: formatVersion, ...line.head }
    case 'bucket':
      return { bucket: line.bucket }
    case 'key':
      return Object.fromEntries(
        Object.entries(line.row).filter(([, value]) => value !== never && value !== undefined),
      )
    case 'end':
      return { end: true, keys: line.keys }
  }
}

/**
 * Reads the line of this number; throws, naming it, for anything that {@link writeLine} does not
 * write.
 */
export function readLine(text: string, number: number): ExportLine {
  const where = `lines[${number}]`
  let value: unknown
  try {
    value = parseJson(text)
  } catch (cause) {
    throw new SluiceTypeError(where, 'must be a line of an export: JSON', { cause })
  }
  const record = checkObject(where, value as Record<string, unknown>)
  if ('sluice' in record) return { as: 'head', head: readHead(where, record) }
  if ('bucket' in record) return { as: 'bucket', bucket: readBucket(where, record['bucket']) }
  if ('end' in record) {
    const keys = checkNumber(`${where}.keys`, record['keys'], { min: 0, integer: true })
    return { as: 'end', keys }
  }
  return { as: 'key', row: readRow(where, record) }
}

function readHead(where: string, record: Record<string, unknown>): ExportHead {
  const { sluice, version, queue, exportedAt, lastToken } = record
  if (sluice !== 'queue' || version !== formatVersion) {
    throw new SluiceTypeError(where, `must be the head of an export of version ${formatVersion}`)
  }
  return {
    queue: checkQueueName(`${where}.queue`, queue as string, { empty: true }),
    exportedAt: checkNumber(`${where}.exportedAt`, exportedAt, instantLimits),
    lastToken: checkNumber(`${where}.lastToken`, lastToken, {
      min: 0,
      max: counterMax,
      integer: true,
    }),
  }
}

function readBucket(where: string, value: unknown): BucketRow {
  const bucket = checkObject(`${where}.bucket`, value as BucketRow)
  checkString(`${where}.bucket.name`, bucket.name)
  const { name, perSecond, burst, tokens, at } = bucket
  checkNumber(`${where}.bucket.perSecond`, perSecond, { min: 0 })
  checkNumber(`${where}.bucket.burst`, burst, { min: 0, integer: true })
  const promised = { min: Number.MIN_SAFE_INTEGER, max: burst }
  checkNumber(`${where}.bucket.tokens`, tokens, promised)
  checkNumber(`${where}.bucket.at`, at, instantLimits)
  return { name, perSecond, burst, tokens, at }
}

function readRow(where: string, record: Record<string, unknown>): TransferRow {
  const row = record as unknown as TransferRow
  const { key, item, lastError, why, laterWhy, seq, priority, failures, crashes, parked, trace } =
    row
  checkKey(`${where}.key`, key)
  if (item !== undefined) readItem(`${where}.item`, item)
  if (lastError !== undefined)
    checkString(`${where}.lastError`, lastError, { bytesMax: errorBytesMax })
  checkNumber(`${where}.seq`, seq, { min: 0, max: counterMax, integer: true })
  checkPriority(`${where}.priority`, priority)
  const [dueAt, laterAt, readyAt, askedAt, failedAt] = instants.map((member) =>
    row[member] === undefined
      ? never
      : checkNumber(`${where}.${member}`, row[member], instantLimits),
  ) as [EpochMs, EpochMs, EpochMs, EpochMs, EpochMs]
  const counts = { min: 0, max: failuresMax, integer: true }
  return {
    key,
    item,
    lastError,
    why: checkOneOf(`${where}.why`, why, reasons),
    laterWhy: checkOneOf(`${where}.laterWhy`, laterWhy, reasons),
    seq,
    priority,
    dueAt,
    laterAt,
    readyAt,
    askedAt,
    failedAt,
    failures: checkNumber(`${where}.failures`, failures, counts),
    crashes: checkNumber(`${where}.crashes`, crashes, counts),
    parked: checkBoolean(`${where}.parked`, parked),
    trace: trace === undefined ? undefined : checkTrace(`${where}.trace`, trace),
  }
}

function checkTrace(where: string, trace: string): string {
  if (isTrace(checkString(where, trace))) return trace
  throw new SluiceTypeError(where, 'must be one or two W3C traceparents of version 00')
}

function readItem(where: string, item: string): void {
  checkString(where, item, { bytesMax: itemBytesMax })
  try {
    parseJson(item)
  } catch (cause) {
    throw new SluiceTypeError(where, 'must be JSON text', { cause })
  }
}
