/** Parses Server-Sent Events. EventSource is not used because it hides heartbeats, which distinguish an idle stream from a dead one. */

export interface RawEvent {
  id: string
  type: string
  data: string
}

export class EventParser {
  #rest = ''
  #decoder = new TextDecoder()
  #id = ''
  #type = ''
  #data: string[] = []

  feed(chunk: Uint8Array): RawEvent[] {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    this.#rest = lines.pop() ?? ''
    return lines.flatMap((line) => this.#line(line))
  }

  #line(line: string): RawEvent[] {
    if (line === '') return this.#end()
    const colon = line.indexOf(':')
    if (colon === 0) return []
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') this.#id = value
    else if (field === 'event') this.#type = value
    else if (field === 'data') this.#data.push(value)
    return []
  }

  #end(): RawEvent[] {
    const event = { id: this.#id, type: this.#type || 'message', data: this.#data.join('\n') }
    const hasData = this.#data.length > 0
    this.#type = ''
    this.#data = []
    return hasData ? [event] : []
  }
}
