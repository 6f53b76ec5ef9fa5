// This folder is the frame around every screen: the top bar, notices, shortcuts and sign-in.

import type { ComponentChildren, JSX } from 'preact'
import { openDialogs } from '../ui/dialog.tsx'
import { MeaningPopover } from '../ui/meaning-popover.tsx'
import { HelpDialog } from './help-dialog.tsx'
import { NoticeList } from './notice-list.tsx'
import { isHelpOpen } from './shortcuts.ts'
import { TopBar } from './top-bar.tsx'
import { ReloadBanner, TroubleBanner } from './trouble-banner.tsx'

/** The frame around every screen. */
export function Frame({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <TopBar />
      <TroubleBanner />
      <ReloadBanner />
      <main id="content" tabIndex={-1}>
        {children}
        <MeaningPopover />
      </main>
      <NoticeList isCovered={openDialogs.value > 0} />
      {isHelpOpen.value && <HelpDialog />}
    </>
  )
}

/** The part of the address after `#` is the location, so the browser's own jump cannot be used. */
function skip(): void {
  document.getElementById('content')?.focus()
}
