/** The words of the search that led to a message. The message that it leads to highlights them. */
import { useEffect, type RefObject } from 'react'

let words: { messageId: string; list: readonly string[] } | null = null

export function rememberWords(messageId: string, list: readonly string[]): void {
  words = { messageId, list }
}

/** Highlights the words when the element shows the message, until the next search. Browsers without the highlight API show none. */
export function useFoundWords(box: RefObject<HTMLElement | null>, messageId: string, shown: boolean): void {
  useEffect(() => {
    const list = shown && words?.messageId === messageId ? words.list : []
    if (!box.current || list.length === 0 || !('highlights' in CSS)) return
    const ranges = rangesOf(box.current, list)
    CSS.highlights.set('found', new Highlight(...ranges))
    // The message may just have been unfolded: the list has measured and placed it after two frames.
    requestAnimationFrame(() => requestAnimationFrame(() => ranges[0] && showRange(ranges[0])))
  }, [box, messageId, shown])
}

function rangesOf(box: HTMLElement, list: readonly string[]): Range[] {
  const wanted = list.map((word) => word.toLocaleLowerCase())
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
  const ranges: Range[] = []
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.textContent ?? '').toLocaleLowerCase()
    for (const word of wanted) {
      for (let at = text.indexOf(word); at >= 0 && at + word.length <= (node.textContent ?? '').length; at = text.indexOf(word, at + word.length)) {
        const range = new Range()
        range.setStart(node, at)
        range.setEnd(node, at + word.length)
        ranges.push(range)
      }
    }
  }
  return ranges
}

function showRange(range: Range): void {
  const list = range.startContainer.parentElement?.closest('[role="group"][aria-busy]')
  const place = range.getBoundingClientRect()
  const view = list?.getBoundingClientRect()
  if (list && view && (place.top < view.top || place.bottom > view.bottom)) list.scrollTop += place.top - (view.top + view.height / 2)
}
