/** A TCP proxy between a browser and the gateway that can drop connections or go silent. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class NetworkProxy {
  readonly #server: Server
  readonly #ends = new Set<Socket>()
  #state: 'up' | 'down' | 'silent' = 'up'
  url = ''

  constructor(gateway: string) {
    const { hostname, port } = new URL(gateway)
    this.#server = createServer((near) => {
      if (this.#state === 'down') return void near.destroy()
      const far = connect(Number(port), hostname)
      for (const [one, other] of [[near, far], [far, near]] as const) {
        this.#ends.add(one)
        one.pipe(other)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          this.#ends.delete(one)
          // Let data that is still in flight reach the other side.
          other.end()
        })
      }
      if (this.#state === 'silent') this.#silence(near, far)
    })
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  /** Breaks connections and refuses new ones. */
  drop(): void {
    this.#state = 'down'
    this.#ends.forEach((end) => end.destroy())
  }

  /** Keeps connections open without forwarding data; no side gets an error. */
  silence(): void {
    this.#state = 'silent'
    this.#silence(...this.#ends)
  }

  /** Accepts new connections again. Old ones are closed. */
  restore(): void {
    this.#state = 'up'
    this.#ends.forEach((end) => end.destroy())
  }

  close(): void {
    this.drop()
    this.#server.close()
  }

  #silence(...ends: Socket[]): void {
    ends.forEach((end) => end.unpipe().pause())
  }
}
