import type { ButtonHTMLAttributes } from 'react'

const LOOKS = {
  primary: 'min-h-9 bg-warm text-warm-ink px-4 py-1.5 font-medium hover:brightness-110 disabled:opacity-50',
  plain: 'min-h-9 border border-line-strong bg-paper-high px-3 py-1.5 hover:bg-hover',
  quiet: 'px-2 py-1 text-ink-soft hover:bg-hover hover:text-ink',
  bad: 'min-h-9 border border-bad text-bad px-3 py-1.5 hover:bg-bad-low',
}

export function Button({ look = 'plain', className = '', ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { look?: keyof typeof LOOKS }) {
  return <button type="button" className={`rounded-md text-small transition-colors ${LOOKS[look]} ${className}`} {...rest} />
}

export function IconButton({ label, className = '', ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`grid ${/\bsize-/.test(className) ? '' : 'size-9'} shrink-0 place-items-center rounded-md text-ink-soft transition-colors hover:bg-hover hover:text-ink ${className}`}
      {...rest}
    />
  )
}
