import { FORMATS, type Format } from './formats.ts'

/** Buttons that add Markdown to the selected text. */
export function FormatBar({ onFormat }: { onFormat: (format: Format) => void }) {
  return (
    <div role="toolbar" aria-label="Formatting" className="flex gap-0.5 border-b border-line px-2 py-1">
      {FORMATS.map((format) => (
        <button
          key={format.label}
          type="button"
          title={format.label}
          aria-label={format.label}
          className={`grid size-8 place-items-center rounded-md text-ink-soft hover:bg-hover hover:text-ink ${format.look}`}
          // The text keeps the focus and its selection.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onFormat(format)}
        >
          {format.sign}
        </button>
      ))}
    </div>
  )
}
