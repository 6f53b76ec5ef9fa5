import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Interrupted } from '../src/index.ts'
import { cli, type Ended, output, scratchFolder, type World } from './cli.ts'
import { start } from './program.ts'
import { newFile } from './stores.ts'

/** A dashboard that is being served by the command. */
interface Served {
  readonly address: URL
  end(): Promise<Ended>
}

async function filled(): Promise<string> {
  const store = newFile()
  await output(['add', 'orders', 'order/42'], { store })
  return store
}

async function serve(argv: readonly string[], world: World = {}): Promise<Served> {
  const interruption = new AbortController()
  const said = Promise.withResolvers<string>()
  const ended = cli(['dashboard', ...argv], {
    ...world,
    interrupted: interruption.signal,
    onOut: said.resolve,
  })
  const early = ended.then((end) => {
    throw new Error(`it ended: ${JSON.stringify(end)}`)
  })
  early.catch(() => {})
  const address = new URL((await Promise.race([said.promise, early])).trim())
  return {
    address,
    end() {
      interruption.abort(new Interrupted('SIGINT'))
      return ended
    },
  }
}

const withoutFragment = (address: URL): URL => new URL(address.pathname, address)

test('it answers the address that it prints, also where other names are allowed or there are none', async () => {
  const store = await filled()
  const hint = 'only this address is answered; --allow-host NAME allows another one\n'
  const any = await serve(['--host', '0.0.0.0'], { store })
  expect((await fetch(new URL('healthz', any.address))).status).toBe(200)
  expect((await any.end()).err).toContain(hint)
  const named = await serve(['--host', '0.0.0.0', '--allow-host', 'queues.example'], { store })
  expect((await fetch(new URL('healthz', named.address))).status).toBe(200)
  expect((await named.end()).err).not.toContain(hint)
})

test('it serves the named store, on this machine, read-only', async () => {
  const store = await filled()
  const { address, end } = await serve([store])
  expect(address.hostname).toBe('127.0.0.1')
  expect(address.hash).toBe('')
  const overview = await fetch(new URL('api/overview', address))
  expect(await overview.json()).toMatchObject({ queues: [{ queue: 'orders' }] })
  const session = await fetch(new URL('api/session', address))
  expect(await session.json()).toMatchObject({ mayAct: false, mustSignIn: false })
  const { code, err } = await end()
  expect({ code, err }).toEqual({ code: 130, err: `serving ${store}; press Ctrl-C to stop\n` })
  await expect(fetch(address)).rejects.toThrow()
})

describe('signing in', () => {
  test('a token is generated and printed if one is required', async () => {
    const store = await filled()
    const { address, end } = await serve(['--allow-actions'], { store })
    expect(address.hash).toMatch(/^#sign-in=.{32,}$/)
    const refused = await fetch(new URL('api/overview', withoutFragment(address)))
    expect(refused.status).toBe(401)
    await end()
  })

  test('one that is given is not shown again', async () => {
    const store = await filled()
    const folder = scratchFolder()
    writeFileSync(join(folder, 'token'), 'a-token-that-is-long-enough\n')
    chmodSync(join(folder, 'token'), 0o600)
    const world = { store, cwd: folder }
    const { address, end } = await serve(['--allow-actions', '--token-file', 'token'], world)
    expect(address.hash).toBe('')
    const signedIn = await fetch(new URL('api/sign-in', address), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: 'a-token-that-is-long-enough' }),
    })
    expect(signedIn.status).toBe(200)
    const { out, err } = await end()
    expect(out + err).not.toContain('a-token-that-is-long-enough')
    expect(err).toMatch(/^sign in with your token\nserving /)
    chmodSync(join(folder, 'token'), 0o640)
    const open = await serve(['--token-file', 'token'], world)
    expect((await open.end()).err).toContain('other users of this machine can read the token file')
    const env = { SLUICE_DASHBOARD_TOKEN: 'short' }
    const short = await cli(['dashboard'], { store, env })
    expect(short.code).toBe(2)
    expect(short.err).toContain('the token must be at least 16 characters long')
    expect((await cli(['dashboard', '--token-file', 'nowhere'], world)).code).toBe(2)
  })
})

test('--open shows it in a browser, signed in, or says that there is none', async () => {
  const store = await filled()
  const shown: string[] = []
  const browse = async (url: string): Promise<boolean> => {
    shown.push(url)
    return shown.length === 1
  }
  const first = await serve(['--open', '--allow-actions'], { store, browse })
  expect((await first.end()).err).not.toContain('no browser')
  expect(shown).toEqual([first.address.href])
  const second = await serve(['--open'], { store, browse })
  expect((await second.end()).err).toContain('no browser could be started')
})

test('--open signs in with a token that is given, which is not printed', async () => {
  const store = await filled()
  const shown: string[] = []
  const env = { SLUICE_DASHBOARD_TOKEN: 'a-token-that-is-long-enough' }
  const browse = async (url: string): Promise<boolean> => shown.push(url) > 0
  const { address, end } = await serve(['--open'], { store, env, browse })
  const { out, err } = await end()
  expect(shown).toEqual([`${address.href}#sign-in=a-token-that-is-long-enough`])
  expect(out + err).not.toContain('a-token-that-is-long-enough')
})

// macOS has one address of the loopback only.
test.skipIf(process.platform === 'darwin')('on another address one must sign in', async () => {
  const { address, end } = await serve(['--host', '127.0.0.2'], { store: await filled() })
  expect(address.hash).toMatch(/^#sign-in=.{32,}$/)
  await end()
})

test('a store that cannot be reached is reported, and not served', async () => {
  const { code, out, err } = await cli(['dashboard', 'postgres://u@127.0.0.1:1/x'])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toContain('ECONNREFUSED')
})

test('a port in use is reported', async () => {
  const store = await filled()
  const { address, end } = await serve([], { store })
  const { code, err } = await cli(['dashboard', '--port', address.port], { store })
  expect(code).toBe(1)
  expect(err).toMatch(/^sluice: .*EADDRINUSE.*\n$/)
  await end()
})

test('the program serves until it is interrupted', async () => {
  const store = await filled()
  const program = start(['dashboard', store, '-o', 'json'])
  // What it writes to stdout may arrive after what it writes to stderr later.
  await program.said('\n}\n')
  const { url, openUrl } = JSON.parse(program.out()) as { url: string; openUrl: string }
  expect(openUrl).toBe(url)
  expect((await fetch(new URL('api/overview', url))).status).toBe(200)
  program.child.kill('SIGINT')
  expect(await program.ended).toMatchObject({ code: 130, signal: null })
})

describe.skipIf(process.platform !== 'linux')('the program opens a browser with xdg-open', () => {
  /** Serves with `--open`, where the PATH leads to this script only. */
  async function opened(script: string | undefined) {
    const folder = scratchFolder()
    const program = join(folder, 'xdg-open')
    if (script !== undefined) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return start(['dashboard', await filled(), '--open'], { PATH: folder })
  }

  test('which may run as long as the browser, and gets the address', async () => {
    const file = join(scratchFolder(), 'shown')
    // A pipe has no reader until this test opens it.
    expect(spawnSync('mkfifo', [file]).status).toBe(0)
    const program = await opened(`echo "$1" > "${file}"`)
    await program.said(/^http.*\n/m)
    await program.said('press Ctrl-C')
    expect(await readFile(file, 'utf8')).toBe(program.out())
    program.child.kill('SIGINT')
    const { err } = await program.ended
    expect(err).not.toContain('no browser')
  })

  test.each([
    ['is missing', undefined],
    ['finds no browser', 'exit 3'],
  ])('and says so if that %s', async (_, script) => {
    const program = await opened(script)
    await program.said('no browser could be started; open the address manually')
    program.child.kill('SIGINT')
    expect((await program.ended).code).toBe(130)
  })
})
