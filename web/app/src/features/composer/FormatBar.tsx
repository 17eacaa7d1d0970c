import type { RefObject } from 'react'

import { t } from '../../language/words.ts'
import { FORMATS, formatted } from './formats.ts'

/** Buttons that add Markdown to the selected text. */
export default function FormatBar({ box, text, onChange }: { box: RefObject<HTMLTextAreaElement | null>; text: string; onChange: (text: string, start: number, end: number) => void }) {
  return (
    <div role="toolbar" aria-label={t('Formatting')} className="flex gap-0.5 border-b border-line px-2 py-1">
      {FORMATS.map((format) => (
        <button
          key={format.label}
          type="button"
          title={t(format.label)}
          aria-label={t(format.label)}
          className={`grid size-8 place-items-center rounded-md text-ink-soft hover:bg-hover hover:text-ink ${format.look}`}
          // The text keeps the focus and its selection.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => {
            const changed = formatted(text, box.current!.selectionStart, box.current!.selectionEnd, format)
            onChange(changed.text, changed.start, changed.end)
          }}
        >
          {format.sign}
        </button>
      ))}
    </div>
  )
}
