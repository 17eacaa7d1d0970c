import { Popover } from 'radix-ui'
import { useState } from 'react'

import { IconButton } from '../../ui/Button.tsx'
import { Smile } from '../../ui/icons.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'

export const EmojiPicker = lazyPart(() => import('./EmojiPicker.tsx'))

interface Props {
  label: string
  className?: string
  onChoose: (sign: string) => void
  onOpenChange?: (open: boolean) => void
}

/** Opens the emoji picker. The focus stays where `onChoose` puts it. */
export function EmojiButton({ label, className = '', onChoose, onOpenChange }: Props) {
  const [open, setOpen] = useState(false)
  const change = (shown: boolean) => {
    setOpen(shown)
    onOpenChange?.(shown)
  }
  const choose = (sign: string) => {
    change(false)
    onChoose(sign)
  }
  return (
    <Popover.Root open={open} onOpenChange={change}>
      <Popover.Trigger asChild><IconButton label={label} className={className}><Smile className={className ? 'size-4' : 'size-5'} /></IconButton></Popover.Trigger>
      <Popover.Portal>
        <Popover.Content align="end" sideOffset={6} collisionPadding={12} aria-label={label} className="z-30 animate-rise rounded-lg border border-line bg-paper-high p-3 shadow-high">
          <EmojiPicker onChoose={choose} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
