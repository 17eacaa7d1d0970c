/** The package as it is published: built, packed, and used from outside the repository. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

const SDK = join(import.meta.dirname, '..')
const NPM = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js')
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` }
const node = (cwd: string, ...args: string[]) => execFileSync(process.execPath, args, { cwd, env, encoding: 'utf8' })
// The older of the two compilers in this repository; the types must work with both.
const TSC = join(SDK, 'node_modules/typescript/bin/tsc')

beforeAll(() => {
  rmSync(join(SDK, 'dist'), { recursive: true, force: true })
  node(SDK, NPM, 'run', 'build', '--loglevel=error')
}, 60_000)

test('the package contains only the built client and its types', () => {
  const [packed] = JSON.parse(node(SDK, NPM, 'pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error')) as [{ files: { path: string }[] }]
  const paths = packed.files.map((file) => file.path)
  expect(paths).toEqual(expect.arrayContaining(['package.json', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'dist/react/index.js', 'dist/react/index.d.ts']))
  expect(paths.filter((path) => !/^(dist\/.*\.(js|d\.ts)|package\.json|README\.md)$/.test(path))).toEqual([])
}, 60_000)

test('a program outside the repository compiles and runs with it', () => {
  const home = mkdtempSync(join(tmpdir(), 'majlis-client-'))
  mkdirSync(join(home, 'node_modules/@majlis'), { recursive: true })
  symlinkSync(SDK, join(home, 'node_modules/@majlis/client'))
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }')
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', types: [], skipLibCheck: false }
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
  writeFileSync(join(home, 'use.ts'), `import { createClient, MajlisError, Store, type Message } from '@majlis/client'
import { useMessages } from '@majlis/client/react'
const found: Promise<Message> = createClient({ baseUrl: 'http://localhost' }).messages.get('msg_1')
// @ts-expect-error an id is a string
const wrong = () => createClient().messages.get(1)
found.catch(() => {})
console.log(typeof Store, typeof useMessages, new MajlisError(0, 'x', 'y') instanceof Error)
`)
  try {
    node(home, TSC, '-p', '.')
    expect(node(home, 'use.js').trim()).toBe('function function true')
  } finally {
    rmSync(home, { recursive: true })
  }
}, 60_000)
