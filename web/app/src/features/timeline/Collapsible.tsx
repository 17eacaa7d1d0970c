import { useState, type ReactNode } from 'react'

const LONG_CHARACTERS = 3000
const LONG_LINES = 40
const FIRST_LINES = /^(?:.*\n){0,40}.*/

/** Shows the beginning of a very long message; the rest is rendered on demand. */
export function Collapsible({ text, children }: { text: string; children: (shown: string) => ReactNode }) {
  const [open, setOpen] = useState(false)
  const long = text.length > LONG_CHARACTERS || text.split('\n').length > LONG_LINES
  if (!long) return children(text)
  return (
    <>
      <div className={open ? '' : 'max-h-96 overflow-hidden [mask-image:linear-gradient(black_75%,transparent)]'}>{children(open ? text : startOf(text))}</div>
      <button type="button" aria-expanded={open} className="mt-1 rounded-sm text-small text-warm underline underline-offset-4" onClick={() => setOpen(!open)}>
        {open ? 'Show less' : 'Show more'}
      </button>
    </>
  )
}

const startOf = (text: string): string => FIRST_LINES.exec(text)![0].slice(0, LONG_CHARACTERS)
