/**
 * A long text in chunks that are parsed each on its own. A parser of Markdown takes four times as long for twice as much,
 * and much longer for texts that are made to be bad; cut small, the whole takes as long as it is long, and of words that
 * an agent is writing only the last chunk is parsed again.
 */

export interface Chunk {
  /** Where in the text it begins. */
  at: number
  text: string
  /** Made to be bad, or by an accident as bad: shown as it was written. */
  plain: boolean
}

/** From here on a chunk ends where a reader would pause. */
const ENOUGH = 800
/** Here it ends wherever it is; code, which is cheap, goes on. */
const MOST = 4000
/** References are looked for in the same chunk only, so a text with a list of them is cut later. */
const MOST_WITH_REFERENCES = 12_000

const REFERENCE = /^ {0,3}\[[^\]\n]+\]:/m
/** Only where it stands at the beginning of a line: there it is one whatever came before. */
const FENCE = /^(`{3,})[^`]*$|^(~{3,})/
/** Lists in lists in lists: each level costs as much as all before it. */
const DEEP = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){20}/m
/** Rows are filled up to as many cells as there are columns. */
const WIDE = /^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|){30}/m

export function chunksOf(text: string): Chunk[] {
  if (text.length <= ENOUGH) return [chunk(text, 0)]
  const most = text.length <= MOST_WITH_REFERENCES && REFERENCE.test(text) ? MOST_WITH_REFERENCES : MOST
  const enough = most === MOST ? ENOUGH : most
  const chunks: Chunk[] = []
  let [start, at] = [0, 0]
  let fence: string | null = null
  const cut = (end: number) => {
    if (end > start) chunks.push(chunk(text.slice(start, end), start))
    start = end
  }
  for (const line of text.split(/(?<=\n)/)) {
    const end = at + line.length
    const mark: string | null = markOf(line)
    if (fence !== null) {
      if (closes(line, fence)) {
        fence = null
        if (end - start > enough) cut(end)
      }
    } else if (mark !== null) {
      if (at - start > enough) cut(at)
      fence = mark
    } else {
      if (at - start > enough && pauses(text, at)) cut(at)
      if (end - start > most) cut(at)
      while (end - start > most) cut(wordEnd(text, start, start + most))
    }
    at = end
  }
  cut(text.length)
  return chunks
}

const chunk = (text: string, at: number): Chunk => ({ at, text, plain: DEEP.test(text) || WIDE.test(text) })

function markOf(line: string): string | null {
  const found = FENCE.exec(line.trimEnd())
  return found?.[1] ?? found?.[2] ?? null
}

function closes(line: string, fence: string): boolean {
  const mark = line.trim()
  return mark.length >= fence.length && mark === fence[0]!.repeat(mark.length)
}

/** After an empty line, and before something that does not belong to what stood there. */
const pauses = (text: string, at: number): boolean => text.slice(Math.max(0, at - 2), at) === '\n\n' && !/\s/.test(text[at] ?? ' ')

function wordEnd(text: string, start: number, end: number): number {
  const space = text.lastIndexOf(' ', end)
  return space > start ? space + 1 : end
}
