import { Dialog as Radix } from 'radix-ui'
import { useState, type ReactNode } from 'react'

import { t } from '../language/words.ts'
import { IconButton } from './Button.tsx'
import { Close } from './icons.tsx'

interface Props {
  title: string
  hiddenTitle?: boolean
  onClose: () => void
  children: ReactNode
  className?: string
}

/** A modal dialog. It has its own backdrop, because Radix's overlay adds a <style>, which the content security policy blocks. */
export function Dialog({ title, hiddenTitle = false, onClose, children, className = 'max-w-lg' }: Props) {
  // Read before an autofocused child takes the focus; Radix reads it later and would restore it to that child.
  const [before] = useState(() => document.activeElement)
  const restoreFocus = (event: Event) => {
    event.preventDefault()
    if (before instanceof HTMLElement && before.isConnected) before.focus()
  }
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <div className="fixed inset-0 z-40 bg-veil" aria-hidden />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={restoreFocus}
          // Escape closes only the dialog, not also the panel that opened it.
          onKeyDown={(event) => event.key === 'Escape' && event.stopPropagation()}
          className={`fixed inset-x-3 top-[12vh] z-50 mx-auto max-h-[76vh] animate-rise overflow-auto rounded-lg border border-line bg-paper-high shadow-high ${className}`}
        >
          <div className={hiddenTitle ? 'unseen' : 'flex items-center justify-between px-5 pt-4'}>
            <Radix.Title className="text-large">{title}</Radix.Title>
            {!hiddenTitle && <Radix.Close asChild><IconButton label={t('Close')}><Close /></IconButton></Radix.Close>}
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
