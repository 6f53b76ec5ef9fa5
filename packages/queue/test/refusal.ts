/** The error of a promise; a promise that resolves is a failure of the test. */
export async function refusal(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`should have been refused, and gave ${JSON.stringify(value)}`)
}
