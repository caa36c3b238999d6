"""`tf.contrib.resampler`: values between pixels."""
