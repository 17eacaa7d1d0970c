/** A wire between a browser and the gateway that can be cut, or go dead without a word. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class Wire {
  readonly #server: Server
  readonly #ends = new Set<Socket>()
  #state: 'whole' | 'cut' | 'dead' = 'whole'
  url = ''

  constructor(gateway: string) {
    const { hostname, port } = new URL(gateway)
    this.#server = createServer((near) => {
      if (this.#state === 'cut') return void near.destroy()
      const far = connect(Number(port), hostname)
      for (const [one, other] of [[near, far], [far, near]] as const) {
        this.#ends.add(one)
        one.pipe(other)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          this.#ends.delete(one)
          // What it has said before it went is still on its way to the other.
          other.end()
        })
      }
      if (this.#state === 'dead') this.#hush(near, far)
    })
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  /** Connections break, and new ones are refused. */
  cut(): void {
    this.#state = 'cut'
    this.#ends.forEach((end) => end.destroy())
  }

  /** Connections stand, and nothing comes through: nobody is told. */
  die(): void {
    this.#state = 'dead'
    this.#hush(...this.#ends)
  }

  /** What was lost stays lost; new connections are whole. */
  mend(): void {
    this.#state = 'whole'
    this.#ends.forEach((end) => end.destroy())
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #hush(...ends: Socket[]): void {
    ends.forEach((end) => end.unpipe().pause())
  }
}
