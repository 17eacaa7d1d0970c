import { useState, type ReactNode } from 'react'

import { t } from '../../language/words.ts'
import { isLong, startOf } from './longText.ts'

/** Which messages are open. Kept here, because rows are unmounted while they are off screen. */
const opened = new Map<string, boolean>()

/** Shows the beginning of a very long message; the rest is rendered on demand. `open`: not folded unless the reader asks for it. */
export function Collapsible({ id, text, open: keepOpen, children }: { id: string; text: string; open: boolean; children: (shown: string) => ReactNode }) {
  const [, setToggles] = useState(0)
  if (!isLong(text)) return children(text)
  // A message that was open once stays open: it never folds under the reader's eyes.
  if (keepOpen && !opened.has(id)) opened.set(id, true)
  const open = opened.get(id) ?? false
  const toggle = () => {
    opened.set(id, !open)
    setToggles((n) => n + 1)
  }
  return (
    <>
      <div className={open ? '' : 'max-h-128 overflow-hidden [mask-image:linear-gradient(black_80%,transparent)]'}>{children(open ? text : startOf(text))}</div>
      <button type="button" aria-expanded={open} className="mt-1 rounded-sm text-small text-link underline underline-offset-4" onClick={toggle}>
        {open ? t('Show less') : t('Show more')}
      </button>
    </>
  )
}
