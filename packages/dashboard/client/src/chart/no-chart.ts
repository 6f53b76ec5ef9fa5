/** The sentence in place of a chart without a step. */
export function noChart(isKept: boolean): string {
  return isKept
    ? 'Nothing recorded. Workers of createWorker report every 10 s.'
    : 'This store keeps no history.'
}
