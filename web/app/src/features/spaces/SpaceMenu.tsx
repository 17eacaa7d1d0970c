import { useState } from 'react'

import { t } from '../../language/words.ts'
import { IconButton } from '../../ui/Button.tsx'
import { More } from '../../ui/icons.tsx'
import { LazyMenu } from '../../ui/LazyMenu.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'

export const SpaceMenuList = lazyPart(() => import('./SpaceMenuList.tsx'), { over: true })

/** Pins, mutes or archives a space, and sets its notifications. */
export function SpaceMenu({ spaceId }: { spaceId: string }) {
  // The menu is rendered inside the header, so that it belongs to a landmark.
  const [box, setBox] = useState<HTMLElement | null>(null)
  return (
    <div ref={setBox} className="relative">
      <LazyMenu opens="menu" button={<IconButton label={t('Space options')}><More /></IconButton>}>
        {(button) => <SpaceMenuList spaceId={spaceId} button={button} box={box} waiting={button} />}
      </LazyMenu>
    </div>
  )
}
