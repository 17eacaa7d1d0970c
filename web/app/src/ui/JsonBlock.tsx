/** A labeled value: text as it is, anything else as JSON. */
export function JsonBlock({ label, value }: { label: string; value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <div>
      <p className="text-tiny text-ink-soft">{label}</p>
      <pre tabIndex={0} aria-label={label} className="max-h-72 overflow-auto rounded-md bg-paper-low p-2 font-mono text-tiny whitespace-pre-wrap">{text}</pre>
    </div>
  )
}
