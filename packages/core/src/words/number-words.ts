/** A whole number with its thousands separated: `12,041`. */
export function countWords(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** A number that may be a lower bound: `10,000+`. */
export function atLeastWords(count: number, mayBeMore: boolean): string {
  return mayBeMore ? `${countWords(count)}+` : countWords(count)
}

/** A count with its noun: `1 key`, `2,041 keys`. */
export function manyWords(count: number, one: string, more: string = `${one}s`): string {
  return `${countWords(count)} ${count === 1 ? one : more}`
}

/** A rate per second with significant digits: `0.02`, `2.1`, `138`, `12k`; `–` if it is unknown. */
export function rateWords(perSecond: number | undefined): string {
  if (perSecond === undefined) return '–'
  const size = Math.abs(perSecond)
  if (size === 0) return '0'
  if (size < 0.005) return '<0.01'
  if (size < 0.095) return perSecond.toFixed(2)
  if (size < 99.95) return perSecond.toFixed(1)
  if (size < 9_999.5) return countWords(perSecond)
  return `${(perSecond / 1_000).toFixed(size < 99_950 ? 1 : 0)}k`
}

/** A share in percent: `0.4 %`, `9.1 %`, `100 %`; `–` if it is unknown. */
export function percentWords(ratio: number | undefined): string {
  if (ratio === undefined) return '–'
  const value = ratio * 100
  const isWhole = value === 0 || value >= 9.95
  return `${value.toFixed(isWhole ? 0 : 1)} %`
}
