import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli, output, scratchFolder } from './cli.ts'
import { shellEnv } from './program.ts'
import { newFile } from './stores.ts'

async function offered(words: readonly string[], store = newFile()): Promise<string[]> {
  const { code, out, err } = await cli(['__complete', '--', ...words], {
    store,
    env: { SLUICE_COMPLETION_TIMEOUT: '1m' },
  })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out.trimEnd().split('\n')
}

async function filled(): Promise<string> {
  const store = newFile()
  await output(['add', 'orders', 'order/42', 'order/43', 'a b'], { store })
  await output(['add', 'old:mails', 'm', '-s', store], {})
  return store
}

describe('what is offered', () => {
  test.each<[readonly string[], readonly string[]]>([
    [['que'], ['queues']],
    [['unp'], ['unpark']],
    [['__'], ['']],
    [['ls', 'q', '--fail'], ['--failures-min']],
    [
      ['ls', 'q', '--st'],
      ['--state', '--store'],
    ],
    [['ls', 'q', '--state', 're'], ['ready']],
    [['ls', 'q', '--state=re'], ['--state=ready']],
    [['-o', 'w'], ['wide']],
    [['queues', '-o', 'j'], ['json']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['import', 'q', ''], [':files']],
    [['dashboard', '--token-file', ''], [':files']],
    [
      ['copy', ''],
      ['sqlite:', 'postgres://', 'redis://'],
    ],
    [
      ['move', ''],
      ['sqlite:', 'postgres://', 'redis://'],
    ],
    [['-s', 'pos'], ['postgres://']],
    [['--store=pos'], ['--store=postgres://']],
    [['nonsense', ''], ['']],
    [['add-after', 'q', ''], ['']],
    [['get', 'q', 'a', ''], ['']],
    [['import', '--', '-q', ''], [':files']],
  ])('%j', async (words, expected) => expect(await offered(words)).toEqual(expected))

  test('queues and keys are those of the store', async () => {
    const store = await filled()
    expect(await offered(['ls', ''], store)).toEqual(['old:mails', 'orders'])
    expect(await offered(['get', 'orders', 'order/4'], store)).toEqual(['order/42', 'order/43'])
    expect(await offered(['park', 'orders', 'order/42', 'o'], store)).toEqual([
      'order/42',
      'order/43',
    ])
    expect(await offered(['-s', store, 'ls', 'or'])).toEqual(['orders'])
    expect(await offered(['ls', `--store=${store}`, 'or'])).toEqual(['orders'])
    const stdin = Array.from({ length: 101 }, (_, at) => `key/${at}`)
    await output(['add', 'many', '--stdin'], { store, stdin })
    expect(await offered(['get', 'many', 'key'], store)).toHaveLength(100)
  })

  test('a missing store offers nothing and prints nothing', async () => {
    expect(await offered(['ls', ''])).toEqual([''])
    expect(await offered(['ls', ''], 'postgres://127.0.0.1:1/x')).toEqual([''])
    expect(await offered(['ls', ''], '')).toEqual([''])
  })
})

describe('in a real bash', () => {
  /** What TAB gives after a line. */
  function tab(line: string, store: string, cwd = scratchFolder()): string[] {
    const script = `
      source <(sluice completion bash)
      COMP_LINE=${JSON.stringify(line)}
      read -r -a COMP_WORDS <<< "$COMP_LINE"
      [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
      COMP_POINT=\${#COMP_LINE}
      _sluice
      printf '%s\\n' "\${COMPREPLY[@]}"`
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
      cwd,
      encoding: 'utf8',
      env: shellEnv({ SLUICE_STORE: store, SLUICE_COMPLETION_TIMEOUT: '1m' }),
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return stdout.trimEnd().split('\n')
  }

  test('commands, options, queues and keys are completed', async () => {
    const store = await filled()
    expect(tab('sluice un', store)).toEqual(['unpark'])
    expect(tab('sluice ls --sta', store)).toEqual(['--state'])
    expect(tab('sluice ls or', store)).toEqual(['orders'])
    expect(tab('sluice get orders ', store)).toEqual(['a\\ b', 'order/42', 'order/43'])
  })

  test('files are completed where a file is wanted', async () => {
    const cwd = scratchFolder()
    writeFileSync(join(cwd, 'orders.ndjson'), '')
    expect(tab('sluice import orders ord', await filled(), cwd)).toEqual(['orders.ndjson'])
  })

  test('an interactive one completes as one types', async () => {
    const store = await filled()
    // TAB twice lists what there is; the line that is read last shows what was completed.
    const typed =
      'PS1=; source <(sluice completion bash)\nsluice get orders order/4\t2 -o name\nexit\n'
    const { stdout } = spawnSync('bash', ['--norc', '--noprofile', '-i'], {
      input: typed,
      encoding: 'utf8',
      env: shellEnv({ TERM: 'dumb', SLUICE_STORE: store, SLUICE_COMPLETION_TIMEOUT: '1m' }),
    })
    expect(stdout).toContain('order/42')
  })

  test('words in quotes, and below the home folder, are what the shell makes of them', async () => {
    const cwd = scratchFolder()
    await output(['add', 'my jobs', 'a b', "it's"], { store: join(cwd, 'queue.db') })
    const typed =
      'PS1=; source <(sluice completion bash)\n' +
      "sluice -s ~/queue.db get 'my jobs' a\t-o name> one\n" +
      'sluice -s "sqlite:./queue.db" get my\tit\t-o name> two\n' +
      'sluice -s ./queue\\.db get "my\t"it\t-o name> three\nexit\n'
    spawnSync('bash', ['--norc', '--noprofile', '-i'], {
      cwd,
      input: typed,
      encoding: 'utf8',
      env: shellEnv({
        TERM: 'dumb',
        HOME: cwd,
        SLUICE_STORE: '',
        SLUICE_COMPLETION_TIMEOUT: '1m',
      }),
    })
    expect(readFileSync(join(cwd, 'one'), 'utf8')).toBe('a b\n')
    expect(readFileSync(join(cwd, 'two'), 'utf8')).toBe("it's\n")
    expect(readFileSync(join(cwd, 'three'), 'utf8')).toBe("it's\n")
  })

  test('words with a colon or an equals sign are completed, which end a word there', async () => {
    const cwd = scratchFolder()
    const store = newFile()
    await output(['add', 'jobs:eu', 'user:42', 'other'], { store })
    const typed =
      'PS1=; source <(sluice completion bash)\n' +
      `sluice -s ${store} get jobs:e\tuser:4\t--output=na\t> one\n` +
      `sluice --store=sqli\t${store.replace('sqlite:', '')} ls --output=name --state=re\tjobs:e\t> all\nexit\n`
    spawnSync('bash', ['--norc', '--noprofile', '-i'], {
      cwd,
      input: typed,
      encoding: 'utf8',
      env: shellEnv({ TERM: 'dumb', SLUICE_STORE: '', SLUICE_COMPLETION_TIMEOUT: '1m' }),
    })
    expect(readFileSync(join(cwd, 'one'), 'utf8')).toBe('user:42\n')
    expect(readFileSync(join(cwd, 'all'), 'utf8')).toBe('other\nuser:42\n')
  })
})

test('names that a terminal cannot show are not offered', async () => {
  const store = newFile()
  await output(['add', 'orders', 'plain'], { store })
  await output(['add', 'orders', '--item', '"two\\nlines"'], { store })
  const env = { SLUICE_COMPLETION_TIMEOUT: '1m' }
  expect(await output(['__complete', '--', 'get', 'orders', ''], { store, env })).toBe('plain\n')
})

test('each shell gets a script of its own', async () => {
  expect(await output(['completion', 'zsh'])).toMatch(/^#compdef sluice\n/)
  expect(await output(['completion', 'fish'])).toContain('complete -c sluice')
})

test('the script for zsh gives the program words without quotes, and with the home folder for ~/', async () => {
  const script = await output(['completion', 'zsh'])
  // A zsh is not needed to run the tests: (Q) takes the quotes away, and PREFIX is without one that is open.
  expect(script).toMatch(/before=\("\$\{\(@Q\)before\/#\\~\\\/\/\$\{\(q\)HOME\}\/\}"\)\n/)
  expect(script).toMatch(/__complete -- "\$\{before\[@\]\}" "\$\{\(Q\)PREFIX\}" 2>/)
})

test('the script for fish gives the program the word at the cursor without its quotes, and ~/ as the home folder', async () => {
  const script = await output(['completion', 'fish'])
  expect(script).toContain('(commandline -opc | string replace -r \'^~/\' "$HOME/")')
  expect(script).toContain(`-ct | string replace -r '^["\\']' '' | string unescape)`)
  // An empty word is one, too.
  expect(script).toContain('__complete -- $words "$current" 2>')
})

test('without a shell, completion is for that of $SHELL', async () => {
  const asked = await cli(['completion'], { env: { SHELL: '/usr/bin/zsh' } })
  expect(asked).toEqual({ code: 0, out: await output(['completion', 'zsh']), err: '' })
  const unknown = await cli(['completion'], { env: { SHELL: '/bin/tcsh' } })
  expect(unknown.code).toBe(2)
  expect(unknown.err).toContain(
    'name a shell, which is one of bash, zsh, fish: $SHELL is /bin/tcsh',
  )
  expect((await cli(['completion'])).err).toContain('$SHELL is not set')
})
