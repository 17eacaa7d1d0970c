import { IconButton } from '../../ui/Button.tsx'
import { Smile } from '../../ui/icons.tsx'
import { LazyMenu } from '../../ui/LazyMenu.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'

export const EmojiPopover = lazyPart(() => import('./EmojiPopover.tsx'), { over: true })

interface Props {
  label: string
  className?: string
  onChoose: (sign: string) => void
  onOpenChange?: (open: boolean) => void
}

/** Opens the emoji picker. */
export function EmojiButton({ label, className = '', onChoose, onOpenChange = () => {} }: Props) {
  return (
    <LazyMenu opens="dialog" button={<IconButton label={label} className={className}><Smile className={className ? 'size-4' : 'size-5'} /></IconButton>}>
      {(button) => <EmojiPopover label={label} button={button} waiting={button} onChoose={onChoose} onOpenChange={onOpenChange} />}
    </LazyMenu>
  )
}
