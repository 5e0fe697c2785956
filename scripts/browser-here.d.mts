export const BROWSER: string;
export const leavesOutBrowserTests: boolean;
