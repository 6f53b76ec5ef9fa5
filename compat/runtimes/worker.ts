import { examinedInMemory, report } from './suite.ts'

/** A worker of workerd that answers with the report of the suite. */
export const worker = {
  async fetch(): Promise<Response> {
    return new Response(report(await examinedInMemory()))
  },
}
