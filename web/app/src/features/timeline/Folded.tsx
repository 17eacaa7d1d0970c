import { useState, type ReactNode } from 'react'

const LONG_CHARACTERS = 3000
const LONG_LINES = 40

/** A very long message shows its beginning; the rest is one press away. */
export function Folded({ text, children }: { text: string; children: ReactNode }) {
  const [open, setOpen] = useState(false)
  const long = text.length > LONG_CHARACTERS || text.split('\n').length > LONG_LINES
  if (!long) return children
  return (
    <>
      <div className={open ? '' : 'max-h-96 overflow-hidden [mask-image:linear-gradient(black_75%,transparent)]'}>{children}</div>
      <button type="button" aria-expanded={open} className="mt-1 rounded-sm text-small text-warm underline underline-offset-4" onClick={() => setOpen(!open)}>
        {open ? 'Show less' : 'Show all of it'}
      </button>
    </>
  )
}
