/** The real gateway and the scripted model as processes of the tests' own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const ROOT = resolve(import.meta.dirname, '../../..')
const PYTHON = join(ROOT, '.venv/bin/python')

export const OWNER_TOKEN = 'owner-token-for-tests-only-0123456789'

export class Process {
  readonly child: ChildProcess
  #lines: AsyncIterator<string>

  constructor(args: string[], env: Record<string, string> = {}) {
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('MAJLIS_'))
    this.child = spawn(PYTHON, args, {
      cwd: ROOT,
      env: { ...Object.fromEntries(clean), PYTHONUNBUFFERED: '1', ...env } as NodeJS.ProcessEnv,
      stdio: ['pipe', 'pipe', process.env['MAJLIS_TEST_LOUD'] ? 'inherit' : 'ignore'],
    })
    this.#lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]()
  }

  async line(): Promise<string> {
    return String((await this.#lines.next()).value ?? '')
  }

  tell(line: string): void {
    this.child.stdin!.write(`${line}\n`)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const gone = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.kill(signal)
    await gone
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

  static async start(settings: Record<string, string> = {}): Promise<Gateway> {
    const gateway = new Gateway(settings)
    await gateway.up()
    return gateway
  }

  /** The same address and the same data as before. */
  async up(): Promise<void> {
    // A port that it chooses itself is not taken by somebody else meanwhile.
    const port = this.url ? new URL(this.url).port : '0'
    const args = ['-m', 'majlis', 'serve', '--port', port, '--data-dir', this.data]
    this.#process = new Process(args, {
      MAJLIS_OWNER_TOKEN: OWNER_TOKEN,
      MAJLIS_DEMO: 'false',
      MAJLIS_REQUESTS_PER_SECOND: '1000',
      MAJLIS_REQUESTS_BURST: '5000',
      MAJLIS_SIGN_INS_PER_MINUTE: '1000',
      ...this.#settings,
    })
    const line = await this.#process.line()
    if (!line.startsWith('Majlis is at ')) throw new Error(`the gateway said: ${line}`)
    this.url = line.slice('Majlis is at '.length).trim()
  }

  /** A long past, straight into the database. */
  async fill(spaceId: string, senderId: string, count: number): Promise<void> {
    const filling = new Process(['-m', 'tests.web.fill_history', this.data, spaceId, senderId, String(count)])
    if (!(await filling.line())) throw new Error('the past could not be written')
  }

  async kill(): Promise<void> {
    await this.#process?.end('SIGKILL')
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
    model.url = await model.#process.line()
    return model
  }

  /** What is held in the middle of an answer goes on. */
  release(): void {
    this.#process.tell('')
  }

  /** What to take a message for, where its own words should not be orders. */
  understand(meanings: Record<string, string>): void {
    this.#process.tell(JSON.stringify(meanings))
  }

  async close(): Promise<void> {
    await this.#process.end('SIGKILL')
  }
}
