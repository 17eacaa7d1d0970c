/** The gateway and the scripted model as child processes. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const ROOT = resolve(import.meta.dirname, '../../..')
const PYTHON = join(ROOT, '.venv/bin/python')
/** Its tool `ask` asks people a question. */
export const MCP_SERVER = [PYTHON, '-I', join(ROOT, 'tests/tools/old_stdio_server.py')]

export const OWNER_TOKEN = 'owner-token-for-tests-only-0123456789'

export class Process {
  readonly child: ChildProcess
  #lines: AsyncIterator<string>

  constructor(args: string[], env: Record<string, string> = {}) {
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('MAJLIS_'))
    this.child = spawn(PYTHON, args, {
      // Not the checkout, where a developer may have a majlis.toml.
      cwd: tmpdir(),
      env: { ...Object.fromEntries(clean), PYTHONPATH: ROOT, PYTHONUNBUFFERED: '1', ...env } as NodeJS.ProcessEnv,
      stdio: ['pipe', 'pipe', process.env['MAJLIS_TEST_LOUD'] ? 'inherit' : 'ignore'],
    })
    this.#lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]()
  }

  async readLine(): Promise<string> {
    return String((await this.#lines.next()).value ?? '')
  }

  writeLine(line: string): void {
    this.child.stdin!.write(`${line}\n`)
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exited = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.kill(signal)
    await exited
  }
}

export class Gateway {
  url = ''
  readonly data = mkdtempSync(join(tmpdir(), 'majlis-web-'))
  #process: Process | undefined

  readonly #settings: Record<string, string>

  private constructor(settings: Record<string, string>) {
    this.#settings = settings
  }

  static async create(settings: Record<string, string> = {}): Promise<Gateway> {
    const gateway = new Gateway(settings)
    await gateway.start()
    return gateway
  }

  /** After a kill, with the same address and data. */
  async start(): Promise<void> {
    // Port 0: the gateway picks a free one.
    const port = this.url ? new URL(this.url).port : '0'
    const args = ['-m', 'majlis', 'serve', '--port', port, '--data-dir', this.data]
    this.#process = new Process(args, {
      MAJLIS_OWNER_TOKEN: OWNER_TOKEN,
      MAJLIS_DEMO: 'false',
      MAJLIS_MCP_COMMANDS: MCP_SERVER.join(' '),
      MAJLIS_REQUESTS_PER_SECOND: '1000',
      MAJLIS_REQUESTS_BURST: '5000',
      MAJLIS_SIGN_INS_PER_MINUTE: '1000',
      ...this.#settings,
    })
    const line = await this.#process.readLine()
    const url = /https?:\/\/\S+/.exec(line)?.[0]
    if (!url) throw new Error(`The gateway did not print its address: ${line}`)
    this.url = url
  }

  /** Writes a long history straight into the database. */
  async fillHistory(spaceId: string, senderId: string, count: number): Promise<void> {
    const fill = new Process(['-m', 'tests.web.fill_history', this.data, spaceId, senderId, String(count)])
    if (!(await fill.readLine())) throw new Error('The history could not be written')
  }

  async kill(): Promise<void> {
    await this.#process?.stop('SIGKILL')
  }

  async close(): Promise<void> {
    await this.kill()
    rmSync(this.data, { recursive: true })
  }
}

export class Model {
  readonly #process = new Process(['-m', 'tests.web.scripted_model'])
  url = ''

  static async start(): Promise<Model> {
    const model = new Model()
    model.url = await model.#process.readLine()
    return model
  }

  /** Lets held responses continue. */
  release(): void {
    this.#process.writeLine('')
  }

  /** From now on, requests need this key. */
  needKey(key: string): void {
    this.#process.writeLine(`key ${key}`)
  }

  /** Maps message texts to commands, for texts that should not contain one. */
  interpret(commands: Record<string, string>): void {
    this.#process.writeLine(JSON.stringify(commands))
  }

  async close(): Promise<void> {
    await this.#process.stop('SIGKILL')
  }
}
