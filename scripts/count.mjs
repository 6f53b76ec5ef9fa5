import { basename } from 'node:path'

/** How many failed tests are named again at the end. */
const namedMax = 20

/** How much of the reason of a failure is shown again, from its beginning and from its end. */
const [beginningMax, endMax] = [300, 700]

/** The message of an error without its stack, as one line. */
function reasonOf(failureMessages) {
  const lines = failureMessages.join('\n').split('\n')
  const stackAt = lines.findIndex((line) => /^\s+at /.test(line))
  const message = stackAt === -1 ? lines : lines.slice(0, stackAt)
  const text = message.join(' ').replaceAll(/\s+/g, ' ').trim()
  if (text.length <= beginningMax + endMax) return text
  // A history that was found by chance comes first, and what was wrong with it last.
  return `${text.slice(0, beginningMax)} … ${text.slice(-endMax)}`
}

/** What failed, where nobody has to look for it in a long log. */
function namesOfFailed({ testResults = [] }) {
  const names = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages = [] }) => {
        return `failed: ${fullName} (${basename(name)}): ${reasonOf(failureMessages)}`
      }),
  )
  return names.slice(0, namedMax)
}

/**
 * One number for all parts: the test runner's own counts, and one for each other part.
 *
 * What a runner does not count is a failure too: a file that could not be loaded, an error outside
 * any test, a run without tests, a report that was never written.
 */
export function count(report, outcomes) {
  const remarks = []
  let passed = 0
  let failed = 0

  for (const { part, code } of outcomes) {
    if (part !== 'test') {
      if (code === 0) passed += 1
      else failed += 1
      continue
    }
    const inTests = report === undefined ? 0 : report.numFailedTests
    const unloaded = (report?.testResults ?? []).filter(
      (file) =>
        file.status === 'failed' && !file.assertionResults.some((one) => one.status === 'failed'),
    ).length
    passed += report?.numPassedTests ?? 0
    failed += inTests + unloaded
    if (report === undefined) remarks.push('the test runner wrote no report')
    else if (report.numPassedTests + report.numFailedTests === 0)
      remarks.push('no test was executed')
    else {
      remarks.push(
        `${report.numPassedTests} tests passed, ${inTests} failed, ${report.numPendingTests} skipped`,
      )
      if (unloaded > 0) remarks.push(`${unloaded} test files failed outside of any test`)
      remarks.push(...namesOfFailed(report))
      if (code === 0 || inTests + unloaded > 0) continue
      remarks.push('every test passed, and yet the run did not')
    }
    failed += 1
  }
  return { passed, failed, remarks }
}
