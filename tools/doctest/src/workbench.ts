import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { type Fence, promisedOutput } from './fence.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))
/** Ends programs that hang: a little less than the time a test has, on a machine however busy. */
const secondsMax = 50

/** A fence as a file that the compiler and Node can read, and where its lines came from. */
export interface Sheet {
  readonly fence: Fence
  readonly file: string
}

/** Writes the fences where the packages of this workspace can be imported by their names. */
export function layOut(fences: readonly Fence[]): Sheet[] {
  mkdirSync(join(home, '.cache'), { recursive: true })
  // A folder of its own, because two runs may be under way in one checkout.
  const folder = mkdtempSync(join(home, '.cache', 'fences-'))
  return fences.map((fence) => {
    const file = join(folder, `${fence.path.replace(/[^a-z0-9]+/gi, '-')}-${fence.line}.ts`)
    writeFileSync(file, `${fence.setup}\n${fence.code}\nexport {}\n`)
    return { fence, file }
  })
}

export function clearAway(sheets: readonly Sheet[]): void {
  for (const { file } of sheets) rmSync(join(file, '..'), { recursive: true, force: true })
}

/** What the compiler says about each sheet, all of them in one program. */
export function complaints(sheets: readonly Sheet[]): Map<Sheet, string[]> {
  const path = join(root, 'tsconfig.check.json')
  const read = ts.getParsedCommandLineOfConfigFile(
    path,
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
        throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'))
      },
    },
  )
  const program = ts.createProgram(
    sheets.map(({ file }) => file),
    // What readers' own projects are not asked for is not asked for here.
    { ...read?.options, noPropertyAccessFromIndexSignature: false, noImplicitReturns: false },
  )
  return new Map(
    sheets.map((sheet) => {
      const source = program.getSourceFile(sheet.file)
      const found = [
        ...program.getSyntacticDiagnostics(source),
        ...program.getSemanticDiagnostics(source),
      ]
      return [sheet, found.map((diagnostic) => sentence(sheet, diagnostic))]
    }),
  )
}

function sentence({ fence }: Sheet, { file, start = 0, messageText }: ts.Diagnostic): string {
  const inSheet = file?.getLineAndCharacterOfPosition(start).line ?? 0
  const line = fence.line + inSheet - fence.setup.split('\n').length
  return `${fence.path}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
}

/** Runs a sheet in a Node of its own, in an empty folder; resolves to what went wrong, if anything. */
export async function execute({ fence, file }: Sheet): Promise<string | undefined> {
  const place = mkdtempSync(join(tmpdir(), 'sluice-doctest-'))
  try {
    const { code, output, errors } = await runNode(fence, file, place)
    if (code !== 0) {
      const how =
        code === 'SIGKILL' ? `was still running after ${secondsMax} s` : `ended with ${code}`
      return `${fence.path}:${fence.line}: ${how}\n${output}${errors}`
    }
    return missingLine(fence, output)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** The first promised line that was not printed, in the order of the promises. */
function firstMissing(fence: Fence, output: string): string | undefined {
  const printed = output.split('\n').map((line) => line.trim())
  let from = 0
  for (const promised of promisedOutput(fence)) {
    const at = printed.indexOf(promised, from)
    if (at === -1) return promised
    from = at + 1
  }
  return undefined
}

function missingLine(fence: Fence, output: string): string | undefined {
  const promised = firstMissing(fence, output)
  return promised === undefined
    ? undefined
    : `${fence.path}:${fence.line}: promises "${promised}", but printed:\n${output}`
}

function runNode(
  fence: Fence,
  file: string,
  cwd: string,
): Promise<{ code: number | NodeJS.Signals | null; output: string; errors: string }> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--conditions=sluice-source', file], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: secondsMax * 1000,
      killSignal: 'SIGKILL',
      // The runner's own variables are not the reader's; one only makes loading faster, and a server listens
      // on any port that is free: the one of the page may be that of another program.
      env: { PATH, HOME, NODE_COMPILE_CACHE, PORT: '0' },
    })
    let output = ''
    let errors = ''
    let isInterrupted = false
    child.stdout.on('data', (data) => {
      output += data
      // Whole lines only: one that is still being written may be the beginning of another.
      const lines = output.slice(0, output.lastIndexOf('\n') + 1)
      if (!fence.isInterrupted || isInterrupted || firstMissing(fence, lines) !== undefined) return
      isInterrupted = true
      child.kill('SIGINT')
    })
    child.stderr.on('data', (data) => {
      errors += data
    })
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code: signal ?? code, output, errors }))
  })
}
