"""What `majlis doctor` looks at, a file for each part. Looking changes nothing and makes nothing."""
